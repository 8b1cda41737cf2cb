; Definitions. A head is the text from the definition's start to its @body.
(function_declaration name: (identifier) @name [(block) "end"] @body) @definition.function
(function_declaration name: (dot_index_expression field: (_) @name) @container [(block) "end"] @body) @definition.function
(function_declaration name: (method_index_expression method: (_) @name) @container [(block) "end"] @body) @definition.function
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition [(block) "end"] @body))) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression field: (_) @name) @container)
  (expression_list . value: (function_definition [(block) "end"] @body))) @definition.function
(field name: [(identifier) (string)] @name value: (function_definition [(block) "end"] @body)) @definition.function

; Assigning a required module to a name, or a field of a metatable (`__index`), defines nothing.
(assignment_statement
  (expression_list . value: (function_call name: (identifier) @_require))
  (#any-of? @_require "pcall" "require")) @local
(assignment_statement
  (expression_list . value: (dot_index_expression table: (function_call name: (identifier) @_require)))
  (#eq? @_require "require")) @local
(assignment_statement (variable_list . name: (dot_index_expression field: (_) @_field)) (#match? @_field "^__")) @local

(assignment_statement (variable_list name: (identifier) @name @declarator) (expression_list) @body) @definition.variable
(assignment_statement (variable_list name: (dot_index_expression field: (_) @name) @container @declarator) (expression_list) @body) @definition.variable
(variable_declaration (variable_list name: (identifier) @name @declarator)) @definition.variable
(function_definition) @local

(variable_declaration "local" @modifier)

(assignment_statement
  (variable_list name: (dot_index_expression table: (identifier) @_self field: (_) @instance))
  (#eq? @_self "self"))

(function_call
  name: (identifier) @_require
  arguments: (arguments . (string (string_content) @import))
  (#any-of? @_require "dofile" "loadfile" "require"))
(function_call
  name: (identifier) @_pcall
  arguments: (arguments . (identifier) @_require . (string (string_content) @import))
  (#eq? @_pcall "pcall") (#eq? @_require "require"))

(function_call
  name: (identifier) @_name
  arguments: (arguments . (string) . (function_definition))
  (#any-of? @_name "it" "test")) @test
