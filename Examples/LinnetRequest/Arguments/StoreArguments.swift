import ArgumentParser

/// The options that keep something for the next request.
struct StoreArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send the cookies of this file, and store new ones in it; the format is Netscape's, as of curl.",
            valueName: "file"), completion: .file())
    var cookies: String?

    @Flag(help: "Answer from the cache where HTTP allows it; it is in $XDG_CACHE_HOME/linnet.")
    var cache = false
}
