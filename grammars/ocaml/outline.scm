(let_binding pattern: (value_name) @name @clause (parameter) body: (_) @body) @definition.function
(let_binding pattern: (value_name) @name @clause body: [(function_expression) (fun_expression)] @body) @definition.function
(let_binding pattern: (value_name) @name @clause body: (_) @body) @definition.constant
(let_binding pattern: (parenthesized_operator (_) @name @clause) body: (_) @body) @definition.function
(let_binding pattern: (tuple_pattern (value_name) @name @declarator) body: (_) @body) @definition.constant
(let_binding pattern: (record_pattern (field_pattern (field_path (field_name) @name)) @declarator) body: (_) @body) @definition.constant
(let_binding) @local
(let_expression) @local

(value_definition (attribute_id) @_test (#match? @_test "^(expect_)?test(_unit|_module)?$")) @local @test
