import ArgumentParser

/// The command line, as it was written.
struct TimelineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Fetch from this server instead of the embedded one.",
            discussion: "The posts are looked for at stream/0/posts/stream/global below it."))
    var url: String?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key; repeat it for a backup key.",
            discussion: "Written sha256/BASE64. It takes the place of the embedded server's own pin, too.",
            valueName: "sha256/…"))
    var pins: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Pin no key.",
            discussion: "Any key that an anchor vouches for is accepted then, as is usual without --pin for --url."))
    var insecureNoPin = false

    @Option(help: "How many posts to show.")
    var pageSize = 20

    @Flag(help: "Print once and end, with no spinner and no word on the network in a terminal either.")
    var once = false
}
