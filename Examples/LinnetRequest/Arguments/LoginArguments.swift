import ArgumentParser

/// The options of a login.
struct LoginArguments: ParsableArguments {
    @Option(
        name: .customLong("login"),
        help: ArgumentHelp(
            "Log in at this OAuth issuer, and send the token to the origin of the URL, and to no other.",
            discussion: "The token is kept in $XDG_STATE_HOME/linnet/tokens, and renewed.", valueName: "issuer"))
    var issuer: String?

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
