// Files that several subcommands read and write.
#pragma once

#include <memory>
#include <string>

#include "luminal/driver/trace.h"
#include "luminal/graph/graph.h"

namespace luminal::cli {

// A file's bytes; "-" reads standard input.
std::string read_text(const std::string& file);
// The name for messages: "<stdin>" for "-".
std::string source_name(const std::string& file);
// Reads a graph in its text form, or of a .pt2 file; "-" is the text from standard input. Files
// that a text names (`diff`) must be in its own folder or below: for "-", the working directory.
std::unique_ptr<Graph> read_graph(const std::string& file);
// The same from the contents of a text.
std::unique_ptr<Graph> graph_of_file(const std::string& text, const std::string& file);
void write_text(const std::string& path, const std::string& text);
// Writes the trace as JSON; returns the line that reports it.
std::string write_trace(const std::string& path, const Trace& trace);
// Renders Graphviz text with the program 'dot'; the format is svg or png.
void draw_with_dot(const std::string& dot_text, const std::string& format,
                   const std::string& output);

}  // namespace luminal::cli
