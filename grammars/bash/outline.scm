; Definitions. A head is the text from the definition's start to its @body.
(function_definition name: (_) @name body: (_) @body) @definition.function
(command
  name: (command_name (word) @_alias)
  argument: (concatenation . (word) @name . (_) @body)
  (#eq? @_alias "alias")) @definition.function

; Other scripts may use variables in capitals. `NAME=value command` sets a variable only for that command.
(command (variable_assignment)) @local
(variable_assignment name: (variable_name) @name value: (_) @body (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.variable

(declaration_command ["declare" "export" "readonly" "typeset"] @modifier)

(command
  name: (command_name (word) @_source)
  . argument: [(word) (string) (raw_string) (concatenation)] @import
  (#any-of? @_source "." "source"))

; In an expansion, the text before `:-` is a name, and the text after it is a word.
(expansion (variable_name) @reference)
