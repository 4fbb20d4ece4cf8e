import CommandSupport

/// A program that ended with another status than 0.
struct CommandFailure: Error {
    var command: [String]
    var run: Command
}

/// What a program wrote to its standard output; throws unless it ended with 0.
@discardableResult
func output(of command: [String]) throws -> String {
    let run: Command = try Command.run(command)
    guard run.status == 0 else { throw CommandFailure(command: command, run: run) }
    return run.text
}
