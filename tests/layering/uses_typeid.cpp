// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as portable code: typeid needs run-time type information.
#include <typeinfo>

template <class T>
const char* name_of(const T& value) {
    return typeid(value).name();
}

const char* name_of_number = name_of(1);
