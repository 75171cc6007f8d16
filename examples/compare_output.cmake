# Runs an example and compares what it prints with its .out file.
execute_process(COMMAND ${program} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ ${expected} wanted)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${program} ended with ${code}")
endif()
if(NOT printed STREQUAL wanted)
  message(FATAL_ERROR "the output differs from ${expected}\n--- expected\n${wanted}--- printed\n${printed}")
endif()
