import ArgumentParser
import ExampleSupport
import LinnetPinsCommand
import LinnetReachCommand
import LinnetRequestCommand
import LinnetTransfersCommand

/// Sends HTTP requests, and shows what is between this machine and a server.
@main
struct LinnetTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet",
        abstract: "Sends HTTP requests, and shows what is between this machine and a server.",
        discussion: """
            Without the name of a subcommand, linnet sends a request: "linnet URL" is "linnet request URL". \
            "linnet request --help" lists all options of requests.

            EXAMPLES:
              linnet example.com/posts                          the body of a GET
              linnet post example.com/posts name=x age:=3       a JSON object
              linnet post example.com/photos file@a.jpg         a form with a file
              linnet -iL example.com                            the head too, after redirects
              linnet -O example.com/linnet.iso                  into linnet.iso, with a progress bar
              linnet pins example.com                           the keys of a server
              linnet reach --host example.com:443               the route to a server
              linnet transfers add example.com/linnet.iso       a download that survives this process
            """,
        version: ToolVersion.text,
        subcommands: [RequestCommand.self, PinsCommand.self, ReachCommand.self, TransfersCommand.self],
        defaultSubcommand: RequestCommand.self)
}
