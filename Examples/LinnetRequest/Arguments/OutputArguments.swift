import ArgumentParser

/// The options that say what is printed and stored.
struct OutputArguments: ParsableArguments {
    @Flag(name: [.customShort("i"), .customLong("include")], help: "Print the head of the response, then the body.")
    var includesHead = false

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Send HEAD, and print the head of the response.")
    var isHead = false

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp("Store the body in this file, which appears when it is complete.", valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Store the body in a file with the last name of the URL's path.")
    var usesRemoteName = false

    @Flag(
        name: [.customShort("C"), .customLong("continue")],
        help: "With -o or -O: keep the part of a download that fails, and go on with it the next time.")
    var continues = false

    @Flag(help: "With -o or -O: hand the download over to \"linnet transfers\", and end.")
    var background = false

    @Flag(help: "Print server-sent events as they arrive.")
    var sse = false

    @Flag(help: "Open a WebSocket: send the lines of standard input, and print the messages.")
    var ws = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: "Print to standard error what is sent and received, without credentials, and the server's keys.")
    var isVerbose = false

    @Option(
        name: .customLong("print"),
        help: ArgumentHelp(
            "Print these parts: H and B of the request, h and b of the response, heads and bodies.", valueName: "HBhb"))
    var parts: String?

    @Flag(help: "Print the times of the request, and the server's key, to standard error.")
    var timings = false

    @Option(
        help: ArgumentHelp(
            "Write all requests and responses to this file, as an HTTP Archive (HAR).",
            discussion: "It has the bodies, up to 16 MiB each, and no credentials and cookies.", valueName: "file"),
        completion: .file())
    var har: String?

    @Option(
        help: ArgumentHelp(
            "Write the steps of the request to this file, as a Chrome trace.",
            discussion: "chrome://tracing shows it; the file has no header fields and no bodies.", valueName: "file"),
        completion: .file())
    var trace: String?
}
