/// The names of the tools: `linnet` has subcommands, each of which is also a program of its own, such as `linnet-pins`.
package enum ProgramName {
    /// The file name that this process was started with.
    package static let current = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "linnet"

    /// Returns the name of a command in its help: `linnet-pins` in the program of that name, and otherwise `pins`.
    package static func ofCommand(_ command: String) -> String {
        isProgram(of: command) ? current : command
    }

    /// Returns the start of a command's messages on standard error: `linnet-pins` or `linnet pins`.
    package static func inMessages(of command: String) -> String {
        isProgram(of: command) ? current : "linnet " + command
    }

    /// Whether the process is the program of one command.
    package static func isProgram(of command: String) -> Bool { current == "linnet-" + command }
}
