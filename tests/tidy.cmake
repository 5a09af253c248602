# The written rules of the tree are a test, and a second one sees that each rule can fail.
add_test(NAME "tidy: the tree keeps its written rules" COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy)
add_test(NAME "tidy: every rule reports a planted violation"
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy --self-test)
