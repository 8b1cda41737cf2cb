; Definitions. A head is the text from the definition's start to its @body. A module with a signature contains
; what the signature lists, so repeated definitions in its structure are ignored (@clause).
(module_binding (module_name) @name @clause !module_type body: (structure) @body) @definition.module
(module_binding (module_name) @name @clause module_type: (signature) @body) @definition.module
(module_binding (module_name) @name @clause body: (structure) @body) @definition.module
(module_binding (module_name) @name @clause) @definition.module
(module_type_definition (module_type_name) @name body: (signature) @body) @definition.interface
(module_type_definition (module_type_name) @name) @definition.interface

(type_binding name: (_) @name @clause body: (record_declaration "{" @body)) @definition.struct
(type_binding name: (_) @name @clause body: (variant_declaration) @body) @definition.enum
(type_binding name: (_) @name @clause) @definition.type
(field_declaration (field_name) @name) @definition.field
(constructor_declaration (constructor_name) @name) @definition.variant

(exception_definition (constructor_declaration (constructor_name) @name)) @definition.struct
(external (value_name) @name type: (_) . (string) @body) @definition.function
(value_specification (value_name) @name @clause) @definition.function
(value_specification (parenthesized_operator (_) @name @clause)) @definition.function

(class_binding (class_name) @name body: (_) @body) @definition.class
(class_binding (class_name) @name) @definition.class
(class_type_binding (class_type_name) @name body: (_) @body) @definition.interface
(method_definition (method_name) @name body: (_) @body) @definition.method
(method_definition (method_name) @name) @definition.method
(method_specification (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name body: (_) @body) @definition.field

; Words before a declaration that apply to each name it declares.
(module_definition "module" @modifier)
(type_definition "type" @modifier)
(value_definition "let" @modifier)
(class_definition "class" @modifier)
(class_type_definition "class" @modifier "type" @modifier)

(open_module module: (_) @import)
(include_module module: (module_path) @import)
(include_module module: (module_application functor: (_) @import))
(include_module_type module_type: (_) @import)
