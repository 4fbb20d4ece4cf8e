import Linnet
import ServerNames
import Testing

/// Linnet's public names must coexist with the names of servers: a name in both modules would be ambiguous here, and
/// would not compile.
@Suite struct ServerNamesTests {
    @Test func theNamesOfServersStayTheirs() {
        let types: [any ServerType.Type] = [
            Abort.self, Application.self, Authenticator.self, Body.self, Cache.self, Certificate.self, Channel.self,
            Client.self, ClientRequest.self, ClientResponse.self, Content.self, Cookie.self, Cookies.self,
            Environment.self, ErrorMiddleware.self, File.self, HTTPBody.self, HTTPClient.self, HTTPClientRequest.self,
            HTTPClientResponse.self, HTTPError.self, HTTPMediaType.self, HTTPStatus.self, MediaType.self,
            Middleware.self, Next.self, Parameters.self, Redirect.self, Request.self, RequestBody.self, Responder.self,
            Response.self, ResponseBody.self, Route.self, Router.self, Server.self, ServerConfiguration.self,
            Session.self, SessionData.self, SessionStorage.self, Sessions.self, Storage.self, URI.self,
            Validations.self, View.self, WebSocket.self,
        ]
        #expect(types.count == 46)
    }

    @Test func linnetsNamesNeedNoModuleName() throws {
        let session = try HTTPSession()
        let request: SessionRequest = try session.get("http://example.test/x").request()
        #expect(request.options.tag == nil)
    }
}
