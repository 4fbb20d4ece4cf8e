/// A command line that makes no sense, and what to write instead.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
