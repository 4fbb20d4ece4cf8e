import ArgumentParser

/// The command line, as it was written.
struct Arguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Hosts, with a port where it is not 443, or files with certificates or keys.", valueName: "host[:port]|file"
        ))
    var targets: [String] = []

    @Option(
        help: ArgumentHelp("Judge the hosts, or files, by this policy; print its verdicts.", valueName: "policy.json"))
    var check: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "With --check: judge the chains in files as if this server presented them.", valueName: "host[:port]"))
    var host: String?

    @Option(help: ArgumentHelp("Print what is wrong with this policy, or soon will be.", valueName: "policy.json"))
    var lint: String?

    @Option(help: ArgumentHelp("With --lint: tell of pins that expire within so many days.", valueName: "days"))
    var notice = 30.0

    @Option(
        help: ArgumentHelp(
            "Judge by the certificates of this file instead of the system's, PEM or DER.", valueName: "file"))
    var cacert: String?

    @Option(help: ArgumentHelp("How long a server may take for each step.", valueName: "seconds"))
    var timeout = 10.0

    @Flag(name: .customLong("json"), help: "Print JSON.")
    var isJSON = false
}
