import Glibc

/// Prints a line and flushes the output.
package func tell(_ line: String) {
    print(line)
    fflush(nil)
}

/// A result that is not the expected one, or a failure of the run itself.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
