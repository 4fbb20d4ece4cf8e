extension Command {
    /// A command that has failed.
    public struct Failure: Error, CustomStringConvertible {
        /// The standard error.
        public let description: String
    }

    /// Runs statements on a database with the program `sqlite3`, which waits for a connection of this process that is
    /// still being closed.
    ///
    /// - Returns: The lines of the result, without the last line break.
    /// - Throws: ``Failure`` if a statement fails.
    @discardableResult
    public static func sqlite(_ path: String, _ statements: String) async throws -> String {
        let command = try await run(["sqlite3", "-cmd", ".timeout 20000", path, statements])
        guard command.status == 0 else { throw Failure(description: command.errors) }
        return command.text.split(separator: "\n").joined(separator: "\n")
    }
}
