; Definitions. A head is the text from the definition's start to its @body. A signature and the equations after
; it are one definition: the signature comes first and is the head.
(signature name: (variable) @name @clause) @definition.function
(signature name: (prefix_id (_) @name @clause)) @definition.function
(signature names: (binding_list . name: (_) @name @clause)) @definition.function
(function name: (variable) @name @clause match: (match) @body) @definition.function
(function name: (prefix_id (_) @name @clause) match: (match) @body) @definition.function
(function (infix operator: (operator) @name @clause) match: (match) @body) @definition.function
(function (infix operator: (infix_id (_) @name @clause)) match: (match) @body) @definition.function
(bind name: (variable) @name @clause match: (match) @body) @definition.function
(bind pattern: (tuple (variable) @name @declarator) match: (match) @body) @definition.function
(foreign_import signature: (signature name: (variable) @name)) @definition.function

(data_type name: (_) @name constructors: (_) @body) @definition.struct
(data_type name: (_) @name) @definition.struct
(newtype name: (_) @name constructor: (_) @body) @definition.struct
(newtype name: (_) @name) @definition.struct
(data_constructor constructor: (_ name: (_) @name)) @definition.variant
(data_constructor constructor: (infix operator: (_) @name)) @definition.variant
(gadt_constructor name: (_) @name) @definition.variant
(gadt_constructor names: (_ (constructor) @name @declarator)) @definition.variant
(newtype_constructor name: (_) @name) @definition.variant
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
(class name: (_) @name declarations: (_) @body) @definition.interface
(class name: (_) @name) @definition.interface
(instance name: (_) @name declarations: (_) @body) @definition.impl
(instance name: (_) @name) @definition.impl
(deriving_instance name: (_) @name) @definition.impl
(pattern_synonym (signature synonym: (_) @name @clause)) @definition.function
(pattern_synonym (equation synonym: (_) @name @clause)) @definition.function

; The body of an instance and the local bindings of a function are not visible to other files.
(instance_declarations) @local
(local_binds) @local

(import module: (module) @import)
