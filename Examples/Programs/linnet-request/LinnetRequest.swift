import ArgumentParser
import LinnetRequestCommand

/// `linnet` by its first name, without subcommands.
@main
enum LinnetRequest {
    static func main() async { await RequestCommand.main() }
}
