import ArgumentParser

/// The command line.
struct TimelineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Fetch from this server instead of the embedded one.",
            discussion: "The posts are fetched from stream/0/posts/stream/global below this URL."))
    var url: String?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key. Repeat the option for a backup key.",
            discussion: "The format is sha256/BASE64. It also replaces the pin of the embedded server.",
            valueName: "sha256/…"))
    var pins: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Pin no key.",
            discussion: "Any chain that ends at a trusted anchor is accepted, as is the default with --url."))
    var insecureNoPin = false

    @Option(help: "The number of posts to show.")
    var pageSize = 20

    @Flag(help: "Print the posts and end, even in a terminal.")
    var once = false

    @Flag(help: "Print the posts and the facts of the connection as JSON, and end.")
    var json = false

    @Flag(help: "Show the timeline as a web page of this machine, and print its URL.")
    var serve = false

    @Flag(help: "Let the embedded server reset each connection, and show the network as not reachable.")
    var offline = false

    @Flag(help: "Let the embedded server answer slowly.")
    var slow = false

    @Flag(help: "Let the embedded server reset the connection instead of every third response.")
    var flaky = false

    @Flag(help: "Let the embedded server have another key than the pinned one.")
    var badPin = false
}
