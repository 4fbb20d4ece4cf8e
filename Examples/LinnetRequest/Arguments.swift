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

    @Option(
        help: ArgumentHelp(
            "Log in at this OAuth issuer, and send the token to the origin of the URL, and to no other.",
            discussion: "The token is kept in $XDG_STATE_HOME/linnet/tokens, and renewed.", valueName: "issuer"))
    var login: String?

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp(
            "The identifier of the client at the issuer. The default is linnet-request.", valueName: "id"))
    var clientID: String?

    @Option(
        name: .customLong("scope"),
        help: ArgumentHelp("Ask the issuer for this scope. The option can be repeated.", valueName: "scope"))
    var scopes: [String] = []

    @Flag(help: "Log in with a code on another device, as where there is no display.")
    var device = false
}
