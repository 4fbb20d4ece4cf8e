import ArgumentParser

/// The command line.
struct Arguments: ParsableArguments {
    @Argument(help: "The URL of the request, http or https.")
    var url: String

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key. Repeat the option for a backup key.",
            discussion: "The format is sha256/BASE64.", valueName: "sha256/…"))
    var pins: [String] = []

    @Option(
        help: ArgumentHelp("Trust only chains that end at a certificate of this file, PEM or DER.", valueName: "file"))
    var cacert: String?

    @Flag(name: .customLong("http1"), help: "Use HTTP/1.1, even when the server offers HTTP/2.")
    var usesHTTP1 = false

    @Option(
        help: ArgumentHelp(
            "Send the request through this proxy. Without the option, no proxy is used.",
            discussion: "The schemes are http, https, socks4a, socks5 and socks5h.", valueName: "url"))
    var proxy: String?

    @Option(
        help: ArgumentHelp("Connect to this unix socket, whatever the host and the port of the URL.", valueName: "path")
    )
    var unixSocket: String?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("Send this header field. The option can be repeated.", valueName: "Name: value"))
    var headers: [String] = []

    @Option(help: ArgumentHelp("The timeout of the whole request.", valueName: "seconds"))
    var timeout: Double?
}
