// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as portable code: there are no exceptions.
int refuse(int value) {
    if (value < 0)
        throw value;
    return value;
}
