(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(function_signature name: (_) @name) @definition.function
(property_signature name: (_) @name) @definition.field
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @definition.method
(public_field_definition name: (_) @name value: (_) @body) @definition.field
(public_field_definition name: (_) @name !value) @definition.field
(type_alias_declaration name: (_) @name value: (object_type) @body) @definition.type
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name) @definition.enum
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module

(type_arguments) @opaque

(ambient_declaration "declare" @modifier)

(import_require_clause source: (string (string_fragment) @import))
