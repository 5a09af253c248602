# The written rules of the tree are a test, and a second one sees that each rule can fail.
add_test(NAME "tidy: the tree keeps its written rules" COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy)
add_test(NAME "tidy: every rule reports a planted violation"
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy --self-test)

# DC-4: the layers in docs/ARCHITECTURE.md are those of the build and of the includes.
set(layer_graph Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/layer_graph --layers ${PROJECT_BINARY_DIR}/layers.txt)
add_test(NAME "layer_graph: the document shows the layers as they are (DC-4)" COMMAND ${layer_graph} --check)
add_test(NAME "layer_graph: planted faults are reported" COMMAND ${layer_graph} --self-test)
