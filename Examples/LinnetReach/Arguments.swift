import ArgumentParser

/// The command line.
struct Arguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Monitor the way to this host, whose name is looked up again when the network changes.",
            valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Monitor the way to this IPv4 or IPv6 address, by the kernel's own look-up.", valueName: "ip"))
    var address: String?

    @Flag(help: "Print the current status and end.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "Wait at most this time until the network, the address or the host is reachable; then print the status and end.",
            valueName: "seconds"))
    var wait: Double?

    @Flag(help: "With --host: also open a TCP connection. Without it, nothing is sent to the host.")
    var probe = false

    @Flag(name: .customLong("json"), help: "Print each status as an object in JSON, one in a line.")
    var isJSON = false

    func validate() throws {
        if host != nil && address != nil { throw ValidationError("Give --host or --address, not both.") }
        if once && wait != nil { throw ValidationError("Give --once or --wait, not both.") }
        if probe && host == nil { throw ValidationError("--probe needs --host.") }
        if probe && wait != nil { throw ValidationError("Give --probe or --wait, not both.") }
        if let wait, !(0...1e9).contains(wait) {
            throw ValidationError("The time of --wait must be a number of seconds from 0 to 1000000000.")
        }
    }
}
