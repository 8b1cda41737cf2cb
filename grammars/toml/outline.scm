; A table's head is its line, a key's head the key. An inline table stays on its key's
; line. Of the tables of an array the first tells what all are.
(table . (_) @name . (comment)* . (pair) @body) @definition.section
(table . (_) @name) @definition.section
(table_array_element . (_) @name @clause . (comment)* . (pair) @body) @definition.section
(table_array_element . (_) @name @clause) @definition.section
(inline_table) @local
(pair . (_) @name "=" @body) @definition.key
