//! The network, which guests can't use. They can import sockets, because the runtimes of some
//! languages need the imports. Each use is refused and counted, so that the host can explain a
//! guest's `Permission denied`.

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::io::error::Error as IoError;
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::ResolveAddressStream as Stream;
use wasmtime_wasi::p2::bindings::sockets::network::{
    ErrorCode, Host as NetworkHost, HostNetwork, IpAddress, IpAddressFamily, Network,
};
use wasmtime_wasi::p2::bindings::sockets::tcp::TcpSocket;
use wasmtime_wasi::p2::bindings::sockets::udp::UdpSocket;
use wasmtime_wasi::p2::bindings::sockets::{ip_name_lookup, tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{DynPollable, SocketError};

use super::State;

/// Replaces sockets and name lookup. WASI's own context behind it refuses them too.
pub struct HasNetwork;

impl HasData for HasNetwork {
    type Data<'a> = NetworkView<'a>;
}

pub struct NetworkView<'a> {
    /// Number of attempts in the current call.
    pub attempts: &'a mut u64,
    pub table: &'a mut ResourceTable,
}

/// Adds the replacements for WASI's own functions. Without a socket, the other functions have
/// nothing to work on.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    ip_name_lookup::add_to_linker::<State, HasNetwork>(linker, State::network)?;
    tcp_create_socket::add_to_linker::<State, HasNetwork>(linker, State::network)?;
    udp_create_socket::add_to_linker::<State, HasNetwork>(linker, State::network)
}

impl tcp_create_socket::Host for NetworkView<'_> {
    fn create_tcp_socket(
        &mut self,
        _family: IpAddressFamily,
    ) -> Result<Resource<TcpSocket>, SocketError> {
        *self.attempts += 1;
        Err(ErrorCode::AccessDenied.into())
    }
}

impl udp_create_socket::Host for NetworkView<'_> {
    async fn create_udp_socket(
        &mut self,
        _family: IpAddressFamily,
    ) -> Result<Resource<UdpSocket>, SocketError> {
        *self.attempts += 1;
        Err(ErrorCode::AccessDenied.into())
    }
}

impl ip_name_lookup::Host for NetworkView<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        _name: String,
    ) -> Result<Resource<Stream>, SocketError> {
        self.table.get(&network)?;
        *self.attempts += 1;
        // Same error as WASI's own implementation when lookups are not allowed.
        Err(ErrorCode::PermanentResolverFailure.into())
    }
}

impl NetworkHost for NetworkView<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    /// Returns `None`, because no stream error comes from the network.
    fn network_error_code(
        &mut self,
        error: Resource<IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.table.get(&error)?;
        Ok(None)
    }
}

impl HostNetwork for NetworkView<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        self.table.delete(network)?;
        Ok(())
    }
}

/// A resource that the host never creates. A handle that a guest makes up is not in its table, so
/// every function fails.
impl ip_name_lookup::HostResolveAddressStream for NetworkView<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<Stream>,
    ) -> Result<Option<IpAddress>, SocketError> {
        self.table.get(&stream)?;
        Ok(None)
    }

    fn subscribe(&mut self, stream: Resource<Stream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.table.get(&stream)?;
        Err(wasmtime::Error::msg("there is no lookup to wait for"))
    }

    fn drop(&mut self, stream: Resource<Stream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}
