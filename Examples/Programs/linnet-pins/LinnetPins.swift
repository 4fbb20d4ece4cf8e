import ArgumentParser
import LinnetPinsCommand

/// The program of `linnet pins` alone.
@main
enum LinnetPins {
    static func main() async { await PinsCommand.main() }
}
