; Definitions. A head is the text from the definition's start to its @body.
(function_declaration name: (_) @name type: (builtin_type) @_type body: (_) @body (#eq? @_type "type")) @definition.struct
(function_declaration name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(variable_declaration (identifier) @name (struct_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name (union_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name (opaque_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name (enum_declaration "{" @body)) @definition.enum
(variable_declaration (identifier) @name (error_set_declaration)) @definition.enum
(container_field name: (identifier) @name "=" @body (#not-any-of? @name "_" "")) @definition.field
(container_field name: (identifier) @name (#not-any-of? @name "_" "")) @definition.field

; Short names for definitions of other files.
(variable_declaration . "const" . (identifier) . "=" . (field_expression)) @local
(variable_declaration . "const" . (identifier) . "=" . (builtin_function (builtin_identifier) @_builtin)
  (#any-of? @_builtin "@import" "@This" "@cImport")) @local

(variable_declaration "const" (identifier) @name "=" @body) @definition.constant
(variable_declaration "var" (identifier) @name "=" @body) @definition.variable
(variable_declaration "var" (identifier) @name) @definition.variable

(comptime_declaration) @local
(labeled_type_expression) @local
(test_declaration) @local @test

(builtin_function
  (builtin_identifier) @_import
  (arguments (string (string_content) @import))
  (#any-of? @_import "@import" "@embedFile"))
