import CommandSupport

/// A program that ended with a status other than 0.
struct CommandFailure: Error {
    var command: [String]
    var run: Command
}

/// Returns the standard output of a program; throws unless it ended with status 0.
@discardableResult
func output(of command: [String]) throws -> String {
    let run: Command = try Command.run(command)
    guard run.status == 0 else { throw CommandFailure(command: command, run: run) }
    return run.text
}
