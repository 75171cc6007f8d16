// Text from a language model: a question, the answer as it comes, and a second question that goes
// on from there. Usage: 09_generate MODEL [QUESTION …]
#include <iostream>
#include <string>
#include <vector>

#include "luminal/luminal.h"

using namespace luminal;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cout << "give the path of a model: a GGUF file, or a folder in Hugging Face's layout\n";
    return 0;
  }
  std::vector<std::string> questions(argv + 2, argv + argc);
  if (questions.empty()) questions = {"What is the capital of France?", "And of Italy?"};
  try {
    const llm::Model model = llm::Model::open(argv[1]);
    llm::Session session(model, {.context = 512});  // compiles: once, for all that follows
    llm::GenerateOptions options{.sampling = model.sampling(), .max_tokens = 100};
    options.on_text = [](std::string_view piece) {
      std::cout << piece << std::flush;
      return true;
    };
    std::vector<ChatMessage> messages;
    for (const std::string& question : questions) {
      std::cout << "> " << question << "\n";
      messages.push_back({"user", question});
      // A model without a chat template only continues text.
      const std::vector<TokenId> prompt = model.chat_template()
                                              ? llm::chat_prompt(model, messages)
                                              : model.tokenizer().encode(question);
      // What the session holds of the conversation already isn't computed again.
      const llm::Generated answer = llm::generate(session, prompt, options);
      std::cout << "\n(" << answer.ids.size() << " tokens: " << llm::text(answer.reason) << ")\n";
      messages.push_back({"assistant", answer.text});
    }
  } catch (const UserError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
