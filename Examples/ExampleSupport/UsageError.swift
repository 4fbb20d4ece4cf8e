/// An invalid command line. The message says how to correct it.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
