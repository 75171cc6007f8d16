// What networks.cpp lists: a function per network.
#pragma once

#include "apps/bench/networks/networks.h"

namespace luminal::bench {

Tensor bert_base(Graph& graph, const NetworkSize& size);
Tensor resnext_50(Graph& graph, const NetworkSize& size);
Tensor nasnet_a(Graph& graph, const NetworkSize& size);
Tensor nasrnn(Graph& graph, const NetworkSize& size);
Tensor inception_v3(Graph& graph, const NetworkSize& size);
Tensor squeezenet(Graph& graph, const NetworkSize& size);
Tensor vgg_19(Graph& graph, const NetworkSize& size);

}  // namespace luminal::bench
