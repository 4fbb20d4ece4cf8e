import ArgumentParser

/// The command line.
struct Arguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Hosts, with a port unless it is 443, or files with certificates or keys.", valueName: "host[:port]|file"
        ))
    var targets: [String] = []

    @Option(
        help: ArgumentHelp(
            "Evaluate this policy for the hosts or files, and print its decisions.", valueName: "policy.json"))
    var check: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "With --check: evaluate the chains in files as if this server presented them.", valueName: "host[:port]"))
    var host: String?

    @Option(help: ArgumentHelp("Print the problems of this policy, including future ones.", valueName: "policy.json"))
    var lint: String?

    @Option(help: ArgumentHelp("With --lint: report pins that expire within this number of days.", valueName: "days"))
    var notice = 30.0

    @Option(
        help: ArgumentHelp(
            "Trust the certificates in this file instead of the system's, PEM or DER.", valueName: "file"))
    var cacert: String?

    @Option(help: ArgumentHelp("The timeout of each connection step.", valueName: "seconds"))
    var timeout = 10.0

    @Flag(name: .customLong("json"), help: "Print JSON. A failure is printed as an object with the key \"error\".")
    var isJSON = false
}
