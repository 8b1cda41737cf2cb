; Everything is inherited: the grammar differs from TypeScript's only in what an expression may be.
