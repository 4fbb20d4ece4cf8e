import ArgumentParser
import LinnetReachCommand

/// The program of `linnet reach` alone.
@main
enum LinnetReach {
    static func main() async { await ReachCommand.main() }
}
