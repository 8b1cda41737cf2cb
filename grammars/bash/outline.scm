; Definitions. A head is the text from the definition's start to its @body.
(function_definition name: (_) @name body: (_) @body) @definition.function
(command
  name: (command_name (word) @_alias)
  argument: (concatenation . (word) @name . (_) @body)
  (#eq? @_alias "alias")) @definition.function

; Capitals are what other scripts may ask for. `NAME=value command` sets nothing that stays.
(command (variable_assignment)) @local
(variable_assignment name: (variable_name) @name value: (_) @body (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.variable

(declaration_command ["declare" "export" "readonly" "typeset"] @modifier)

(command
  name: (command_name (word) @_source)
  . argument: [(word) (string) (raw_string) (concatenation)] @import
  (#any-of? @_source "." "source"))

; What stands behind `:-` in an expansion is a word, in front of it a name.
(expansion (variable_name) @reference)
