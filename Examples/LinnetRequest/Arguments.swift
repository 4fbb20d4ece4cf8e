import ArgumentParser

/// The command line, as it was written.
struct Arguments: ParsableArguments {
    @Argument(help: "Where the request goes, http or https.")
    var url: String

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key; repeat it for a backup key.", discussion: "Written sha256/BASE64.",
            valueName: "sha256/…"))
    var pins: [String] = []

    @Option(
        help: ArgumentHelp("Trust only chains that end at a certificate of this file, PEM or DER.", valueName: "file"))
    var cacert: String?

    @Flag(name: .customLong("http1"), help: "Speak HTTP/1.1, also to servers that offer HTTP/2.")
    var usesHTTP1 = false

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("Send this header field, too; may be repeated.", valueName: "Name: value"))
    var headers: [String] = []

    @Option(help: ArgumentHelp("How long the whole request may take.", valueName: "seconds"))
    var timeout: Double?
}
