// SPDX-License-Identifier: Apache-2.0
//
// Prints the mailbox's state table as Markdown, from the rows in the code, for docs/kernel.md
// (ME-7).
#include <cstdio>

#include <tactus/mailbox/state_table.hpp>

int main() {
    using namespace tactus;
    std::printf("| state | event | next state | the caller owes |\n| --- | --- | --- | --- |\n");
    for (const mailbox_row& row : mailbox_rows) {
        if (row.from == row.to && row.owed == mailbox_owed::nothing)
            continue;
        std::printf("| %s | %s | %s | %s |\n", name_of(row.from), name_of(row.on), name_of(row.to),
                    name_of(row.owed));
    }
    return 0;
}
