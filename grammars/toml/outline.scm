; The head of a table is its header, and the head of a key is the key. An inline table stays on the line of its
; key. Of an array of tables, only the first is kept, as an example.
(table . (_) @name . (comment)* . (pair) @body) @definition.section
(table . (_) @name) @definition.section
(table_array_element . (_) @name @clause . (comment)* . (pair) @body) @definition.section
(table_array_element . (_) @name @clause) @definition.section
(inline_table) @local
(pair . (_) @name "=" @body) @definition.key
