# Configures a consumer from scratch, builds it and runs it; stops at the first failure.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${code}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${binary})
set(options -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_PREFIX_PATH=${prefix} -D LUMINAL_SOURCE=${luminal_source} -D LUMINAL_WERROR=${werror})
if(launcher)
  list(APPEND options -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
endif()
run(${CMAKE_COMMAND} -G ${generator} -S ${source} -B ${binary} ${options})
run(${CMAKE_COMMAND} --build ${binary} --parallel 2)
run(${binary}/consumer)
