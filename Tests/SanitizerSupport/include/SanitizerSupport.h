// Declares no functions: linking the library is sufficient.
