import ExampleSupport
import FoundationEssentials
import Linnet

/// The validated command line.
struct RequestPlan {
    let request: SessionRequest
    let output: OutputPlan
    let connection: ConnectionPlan
    let stores: StorePlan
    /// The login; nil for none.
    let login: LoginPlan?

    init(_ arguments: Arguments) throws {
        request = try MessagePlan(arguments).request
        output = try OutputPlan(arguments.output, url: request.url)
        connection = try ConnectionPlan(arguments.connection, url: request.url)
        stores = try StorePlan(arguments.stores)
        login = try LoginPlan(arguments.login, arguments.connection)
        try login?.validate(request, arguments.connection)
        guard output.way != .backgroundDownload || !arguments.changesSession else {
            throw UsageError(
                "--background excludes options of the connection, of stores and of a login: the journal has none.")
        }
    }
}

extension Arguments {
    /// Whether another session than one with these options would send another request, or get another answer.
    fileprivate var changesSession: Bool {
        connection.isInsecure || !connection.pins.isEmpty || !connection.resolutions.isEmpty || connection.usesHTTP1
            || connection.usesHTTP2 || stores.cache
            || [
                connection.cacert, connection.policy, connection.certificate, connection.proxy, connection.unixSocket,
                stores.cookies, login.issuer,
            ].contains { $0 != nil }
    }
}
