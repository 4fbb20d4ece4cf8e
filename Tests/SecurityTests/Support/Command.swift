import CommandSupport

extension Command {
    /// Runs a program, blocking the thread.
    static func run(_ command: String...) throws -> Command { try run(command) }
}
