/// A command line that makes no sense, and what to write instead.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
