import ArgumentParser

/// The options of the connection: trust, the way to the server, and time.
struct ConnectionArguments: ParsableArguments {
    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects, up to 20.")
    var followsRedirects = false

    @Flag(
        name: [.customShort("k"), .customLong("insecure")],
        help: "Accept any certificate. A party on the way can then read and change everything.")
    var isInsecure = false

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key. Repeat the option for a backup key.",
            discussion: "The format is sha256/BASE64.", valueName: "sha256/…"))
    var pins: [String] = []

    @Option(
        help: ArgumentHelp("Trust only chains that end at a certificate of this file, PEM or DER.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "Apply this security policy, a file with rules by host.", valueName: "policy.json"), completion: .file())
    var policy: String?

    @Option(
        name: .customLong("cert"),
        help: ArgumentHelp(
            "Identify with this client certificate, PEM with its chain, or PKCS #12 (.p12, .pfx).", valueName: "file"),
        completion: .file())
    var certificate: String?

    @Option(
        help: ArgumentHelp("The private key of --cert, unless that file has it.", valueName: "file"),
        completion: .file())
    var key: String?

    @Flag(name: .customLong("http1"), help: "Use HTTP/1.1, even when the server offers HTTP/2.")
    var usesHTTP1 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2 only; without TLS by prior knowledge.")
    var usesHTTP2 = false

    @Option(
        help: ArgumentHelp(
            "Send the request through this proxy, and with \"\" through none.",
            discussion: """
                The schemes are http, https, socks4a, socks5 and socks5h. The default is the proxy of the environment \
                (https_proxy, http_proxy, all_proxy, no_proxy), except to this machine.
                """,
            valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp(
            "Connect to this address for a host and port. The option can be repeated.", valueName: "host:port:address"))
    var resolutions: [String] = []

    @Option(
        help: ArgumentHelp(
            "Repeat a request that failed up to this number of times, with increasing pauses.",
            discussion: "Only methods that may be repeated are: not POST and PATCH.", valueName: "number"))
    var retry = 0

    @Option(
        help: ArgumentHelp(
            "Connect to this unix socket, whatever the host and the port of the URL.", valueName: "path"),
        completion: .file())
    var unixSocket: String?

    @Option(help: ArgumentHelp("The timeout of the whole request.", valueName: "seconds"))
    var timeout: Double?
}
