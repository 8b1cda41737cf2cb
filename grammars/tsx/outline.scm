; Everything is inherited: the grammar differs from TypeScript's only in its expressions.
