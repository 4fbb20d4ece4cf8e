import ArgumentParser
import LinnetTransfersCommand

/// The program of `linnet transfers` alone.
@main
enum LinnetTransfers {
    static func main() async { await TransfersCommand.main() }
}
