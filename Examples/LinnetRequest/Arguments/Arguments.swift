import ArgumentParser

/// The command line.
struct Arguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The method, if it is not GET or POST; the URL; then items of the request.",
            discussion: """
                A URL without a scheme is https, and http on this machine; :8080/path is on this machine too. With data, the \
                method is POST.
                Items: name=text, name:=JSON, name==text for the query, Name:value for a header field, name@file. After = \
                and :=, @file is the text of a file.
                """,
            valueName: "method url item"),
        completion: .list(["get", "head", "post", "put", "patch", "delete", "options"]))
    var words: [String] = []

    @OptionGroup(title: "Request options") var message: MessageArguments
    @OptionGroup(title: "Output options") var output: OutputArguments
    @OptionGroup(title: "Connection options") var connection: ConnectionArguments
    @OptionGroup(title: "Stores") var stores: StoreArguments
    @OptionGroup(title: "Login options") var login: LoginArguments
}
