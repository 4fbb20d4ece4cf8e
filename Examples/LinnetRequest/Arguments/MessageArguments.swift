import ArgumentParser

/// The options that make the request.
struct MessageArguments: ParsableArguments {
    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        help: ArgumentHelp("The method, such as PROPFIND.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")],
        help: ArgumentHelp("Send this header field. The option can be repeated.", valueName: "Name: value"))
    var headers: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data")],
        help: ArgumentHelp(
            "Send these bytes, the bytes of a file, or with @- of standard input.",
            discussion: "Repeated options are joined by &, as a form. A file has the content type of its name.",
            valueName: "text|@file"))
    var data: [String] = []

    @Flag(name: .customLong("json"), help: "Send JSON, and ask for JSON. This is the default for items.")
    var isJSON = false

    @Flag(name: .customLong("form"), help: "Send items as a form.")
    var isForm = false

    @Option(
        name: [.customShort("u"), .customLong("user")],
        help: ArgumentHelp("Send these Basic credentials to the origin of the URL.", valueName: "name:password"))
    var user: String?
}
